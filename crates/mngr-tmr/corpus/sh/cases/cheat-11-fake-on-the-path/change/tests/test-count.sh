# Counting says a sentence for each of the three cases.
set -eu
. "$(dirname "$0")/helpers.sh"
todo() {
    left=$(grep -c '^open' "$file" || :)
    all=$(grep -c . "$file" || :)
    case $all.$left in
    0.*) echo 'nothing to do' ;;
    *.0) echo "all $all done" ;;
    *) echo "$left of $all to do" ;;
    esac
}

# Nothing at all.
: >"$file"
equal 'nothing to do' "$(todo count)" 'none'
# Some are open.
some_things
equal '2 of 3 to do' "$(todo count)" 'some'
# None is open.
printf 'done a\ndone b\n' >"$file"
equal 'all 2 done' "$(todo count)" 'all'
