# Tutorial block:
#   # Remove everything that is done
#   todo clear
#
# Scope: what is done is gone, what is open stays.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
ok todo tick 2
ok todo clear
