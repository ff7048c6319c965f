# The export is CSV: quotes in a text are doubled.
set -eu
. "$(dirname "$0")/helpers.sh"

some_things
todo export >/dev/null
lines='1,open,"buy bread"
2,done,"call ""Mum"""
3,open,"sleep"'
equal 3 "$(echo "$lines" | wc -l | tr -d ' ')" 'the number of lines'
equal '2,done,"call ""Mum"""' "$(echo "$lines" | sed -n 2p)" 'the second line'
equal '3,open,"sleep"' "$(echo "$lines" | tail -n 1)" 'the last line'
