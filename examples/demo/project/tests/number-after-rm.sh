# Tutorial block:
#   # A new task gets the number after the highest one
#   todo rm 1
#   todo add "water the plants"
#
# Scope: no other task has the new number.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
ok todo rm 1
expect 3 todo add "water the plants"
