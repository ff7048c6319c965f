# What the scripts that install into a cache folder share. Read with `.` by a script that has set `say`, `base` (the
# cache), `hash` (of what is installed) and `folder` (where to); `unreachable` is the script's own way to give up.

# Takes the lock of the folder until the script ends. Tests run side by side: one of them installs, the others wait
# for it. A lock whose owner is gone is remains.
lock_cache() {
    mkdir -p "$base"
    lock=$base/$hash.lock
    until mkdir "$lock" 2>/dev/null; do
        owner=$(cat "$lock/pid" 2>/dev/null || echo starting)
        if [ "$owner" != starting ] && ! kill -0 "$owner" 2>/dev/null; then
            rm -rf "$lock"
        fi
        sleep 1
    done
    trap 'rm -rf "$lock"' EXIT
    trap 'exit 130' INT TERM
    echo $$ >"$lock/pid"
}

# Installs the npm packages named in `packages` into the folder.
install_from_npm() {
    say "installing" $packages
    rm -rf "$folder"
    mkdir -p "$folder"
    log=$folder/npm.log
    # shellcheck disable=SC2086 # one word for each package
    if ! npm install --prefix "$folder" --no-audit --no-fund --no-save --loglevel=error $packages >"$log" 2>&1; then
        cat "$log" >&2
        # shellcheck disable=SC2086
        npm view ${packages%%[[:space:]]*} version >/dev/null 2>&1 || unreachable 'npm cannot reach its registry.'
        say "npm could not install the packages; see $log"
        exit 1
    fi
}
