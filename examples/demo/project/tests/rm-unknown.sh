# Tutorial block:
#   # Remove a task that will never be done
#   todo rm 1
#
# Scope: a number that no task has is refused, and nothing is removed.

. tests/lib/session.sh

ok todo add "buy milk"
refuse todo rm 7
expect "1 [ ] buy milk" todo list
