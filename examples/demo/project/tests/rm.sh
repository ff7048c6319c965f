# Tutorial block:
#   # Remove a task that will never be done
#   todo rm 1
#
# Scope: the task is gone, the others keep their numbers.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
ok todo rm 1
expect "2 [ ] call home" todo list
