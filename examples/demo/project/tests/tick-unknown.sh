# Tutorial block:
#   # Tick a task off when it is done
#   todo tick 1
#
# Scope: a number that no task has is refused, with a reason.

. tests/lib/session.sh

ok todo add "buy milk"
refuse todo tick 7
