# Tutorial block:
#   # Find tasks by some of their words, in capitals or not
#   todo find MILK
#
# Scope: words in capitals find a text in small letters.

. tests/lib/session.sh

ok todo add "buy milk"
expect "1 buy milk" todo find MILK
