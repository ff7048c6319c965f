# Tutorial block:
#   # Say it in other words; the task stays as done or open as it was
#   todo edit 1 "buy oat milk"
#
# Scope: of two tasks, each keeps its own state.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
ok todo tick 2
ok todo edit 1 "buy oat milk"
ok todo edit 2 "call mother"
expect "1 [ ] buy oat milk
2 [x] call mother" todo list
