# Tutorial block:
#   # See only what is done
#   todo list --done
#
# Scope: tasks that are open are not shown.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
ok todo tick 2
expect "2 [x] call home" todo list --done
