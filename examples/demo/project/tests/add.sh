# Tutorial block:
#   # Note what there is to do
#   todo add "buy milk"
#
# Scope: the number of the task is printed, and the task is in the list.

. tests/lib/session.sh

expect 1 todo add "buy milk"
expect "1 [ ] buy milk" todo list
