# Tutorial block:
#   # A new task gets the number after the highest one
#   todo rm 1
#   todo add "water the plants"
#
# Scope: the new number means the new task, and no other.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
ok todo rm 1
ok todo add "water the plants"
ok todo rm 3
expect "2 [ ] call home" todo list
