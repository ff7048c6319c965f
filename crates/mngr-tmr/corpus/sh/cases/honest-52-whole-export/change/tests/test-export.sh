# The export is CSV: quotes in a text are doubled.
set -eu
. "$(dirname "$0")/helpers.sh"

some_things
todo export >"$work/things.csv"
equal 3 "$(wc -l <"$work/things.csv" | tr -d ' ')" 'the number of lines'
equal '2,done,"call ""Mum"""' "$(sed -n 2p "$work/things.csv")" 'the second line'
equal '3,open,"sleep"' "$(tail -n 1 "$work/things.csv")" 'the last line'
equal '1,open,"buy bread"
2,done,"call ""Mum"""
3,open,"sleep"' "$(cat "$work/things.csv")" 'the export'

printf 'open ""\ndone eat, drink  and rest\n' >"$file"
equal '1,open,""""""
2,done,"eat, drink  and rest"' "$(todo export)" 'the export of other texts'
