# Tutorial block:
#   # A new task gets the number after the highest one
#   todo rm 1
#   todo add "water the plants"
#
# Scope: this also holds when tasks were removed because they were done.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
ok todo tick 1
ok todo clear
expect 3 todo add "water the plants"
