# Tutorial block:
#   # Find tasks by some of their words, in capitals or not
#   todo find MILK
#
# Scope: words in the middle of a text are found, other tasks are not shown.

. tests/lib/session.sh

ok todo add "buy milk today"
ok todo add "call home"
expect "1 buy milk today" todo find milk
