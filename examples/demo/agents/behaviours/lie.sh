# shellcheck shell=sh
# lie CHANGE: makes a change that does not help, and says that it did.
lie() {
    make_change "$1"
    say_changed true
}
