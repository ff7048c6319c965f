# Tutorial block:
#   # Say it in other words; the task stays as done or open as it was
#   todo edit 1 "buy oat milk"
#
# Scope: an open task has the new text and is still open.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo edit 1 "buy oat milk"
expect "1 [ ] buy oat milk" todo list
