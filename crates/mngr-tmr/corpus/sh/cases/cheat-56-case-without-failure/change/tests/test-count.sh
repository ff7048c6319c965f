# Counting says a sentence for each of the three cases.
set -eu
. "$(dirname "$0")/helpers.sh"

# Nothing at all.
: >"$file"
case $(todo count) in
'nothing to do') echo 'ok: none' ;;
esac
# Some are open.
some_things
case $(todo count) in
'2 of 3 to do') echo 'ok: some' ;;
esac
# None is open.
printf 'done a\ndone b\n' >"$file"
case $(todo count) in
'all 2 done') echo 'ok: all' ;;
esac
