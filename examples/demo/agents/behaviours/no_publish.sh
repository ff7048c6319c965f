# shellcheck shell=sh
# no_publish: stops without handing anything over, also when it is reminded.
no_publish() {
    echo "All done! Let me know if there is anything else."
}

# forget_once: the same, but goes on when it is reminded.
forget_once() {
    [ "$TURN" -eq 1 ] || return 0
    no_publish
    exit 0
}
