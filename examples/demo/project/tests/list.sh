# Tutorial block:
#   # See it
#   todo list
#
# Scope: every task has a line with its number, its state and its text, in the order of their numbers.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
ok todo tick 2
expect "1 [ ] buy milk
2 [x] call home" todo list
