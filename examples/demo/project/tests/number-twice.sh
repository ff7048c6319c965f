# Tutorial block:
#   # A new task gets the number after the highest one
#   todo rm 1
#   todo add "water the plants"
#
# Scope: this also holds for the task after the next.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
ok todo add "pay the rent"
ok todo rm 1
ok todo rm 2
expect 4 todo add "water the plants"
expect 5 todo add "feed the cat"
