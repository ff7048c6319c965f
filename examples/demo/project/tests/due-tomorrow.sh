# Tutorial block:
#   # What is due tomorrow?
#   todo add "pay the rent" due:tomorrow
#   todo list due
#
# Scope: tasks are shown by the day on which they are due.

. tests/lib/session.sh

ok todo add "pay the rent" due:tomorrow
ok todo add "buy milk"
expect "1 [ ] pay the rent" todo list due
