# Tutorial block:
#   # Find tasks by some of their words, in capitals or not
#   todo find MILK
#
# Scope: words in small letters find a text in capitals.

. tests/lib/session.sh

ok todo add "Call Home"
expect "1 Call Home" todo find "call home"
