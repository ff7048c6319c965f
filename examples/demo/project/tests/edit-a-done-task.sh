# Tutorial block:
#   # Say it in other words; the task stays as done or open as it was
#   todo edit 1 "buy oat milk"
#
# Scope: a task that is done stays done.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo tick 1
ok todo edit 1 "buy oat milk"
expect "1 [x] buy oat milk" todo list
