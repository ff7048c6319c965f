#!/bin/sh
# Installs mngr for one user, without root: the program and its man pages, below ~/.local.
#
# usage: install.sh [--url URL] [--prefix FOLDER] [--sums FILE]
#
#   --url URL         where the archives and SHA256SUMS are (also: MNGR_INSTALL_URL); file:// works too
#   --prefix FOLDER   put it below this folder instead of ~/.local: bin/mngr, share/man
#   --sums FILE       compare with these checksums, not with those that lie beside the archives
#
# Nothing is unpacked before its checksum is compared, and nothing is replaced before the new program has run once.
set -eu

default_url=

say() { echo "$*"; }
die() { echo "install.sh: $*" >&2; exit 1; }

# What the archive for this machine is called.
target_here() {
    case $(uname -s)-$(uname -m) in
    Linux-x86_64 | Linux-amd64) echo x86_64-unknown-linux-musl ;;
    Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-musl ;;
    Darwin-*) echo universal-apple-darwin ;;
    *) die "there is no archive for $(uname -s) on $(uname -m); with Rust: cargo install --path crates/mngr --locked" ;;
    esac
}

# fetch NAME: a file of the release, into the work folder. Nobody is sent on to somewhere without encryption.
fetch() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --proto-redir '=https' --output "$work/$1" "$url/$1"
    elif command -v wget >/dev/null; then
        wget --quiet --output-document "$work/$1" "$url/$1"
    else
        die 'neither curl nor wget is there to download with'
    fi || die "cannot download $url/$1"
}

checksum() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1"
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1"
    else
        die 'neither sha256sum nor shasum is there, and nothing is installed unchecked'
    fi | cut -d ' ' -f 1
}

# Everything is in a function, so that half of a script that is read from a pipe does nothing.
main() {
    url=${MNGR_INSTALL_URL:-$default_url}
    prefix=
    sums=
    while [ $# -gt 0 ]; do
        case $1 in
        --url | --prefix | --sums)
            [ $# -gt 1 ] || die "$1 needs a value"
            case $1 in
            --url) url=$2 ;;
            --prefix) prefix=$2 ;;
            --sums) sums=$2 ;;
            esac
            shift 2
            ;;
        *) die "unknown argument \`$1\`; there are --url URL, --prefix FOLDER, --sums FILE" ;;
        esac
    done
    prefix=${prefix:-${HOME:?}/.local}
    [ -n "$url" ] || die 'where to download from? give --url URL, or set MNGR_INSTALL_URL'
    url=${url%/}
    target=$(target_here)

    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM

    if [ -n "$sums" ]; then
        cp "$sums" "$work/SHA256SUMS"
    else
        fetch SHA256SUMS
    fi
    archive=$(awk -v end="-$target.tar.gz" '
        index($2, "mngr-") == 1 && substr($2, length($2) - length(end) + 1) == end { print $2 }' "$work/SHA256SUMS")
    case $archive in
    '') die "the checksums of $url name no archive for $target" ;;
    *[!A-Za-z0-9._+-]*) die "the checksums of $url name more than one archive for $target, or a strange one" ;;
    esac
    expected=$(awk -v file="$archive" '$2 == file { print $1 }' "$work/SHA256SUMS")

    say "Downloading $url/$archive"
    fetch "$archive"
    actual=$(checksum "$work/$archive")
    [ "$actual" = "$expected" ] || die "$archive is not what its checksum promises; nothing was installed
  expected $expected
  got      $actual"
    say "Its SHA-256 is as promised: $actual"

    tar -xzf "$work/$archive" -C "$work"
    new=$work/${archive%.tar.gz}
    version=$("$new/mngr" --version) || die "the program in $archive does not run here; nothing was installed"

    mkdir -p "$prefix/bin"
    # A rename: a mngr that runs at this moment keeps its file, and nobody sees half of one.
    cp "$new/mngr" "$prefix/bin/.mngr.$$"
    mv "$prefix/bin/.mngr.$$" "$prefix/bin/mngr"
    say "Installed $version: $prefix/bin/mngr"
    for section in 1 7; do
        mkdir -p "$prefix/share/man/man$section"
        cp "$new/man/man$section/"* "$prefix/share/man/man$section/"
    done
    say "Man pages are in $prefix/share/man"

    found=$(command -v mngr || true)
    case $found in
    "$prefix/bin/mngr") ;;
    '') say "Not on your PATH yet: add $prefix/bin to it" ;;
    *) say "Another mngr comes first on your PATH: $found" ;;
    esac
    for tool in git tmux; do
        command -v "$tool" >/dev/null || say "mngr needs $tool, which is not installed"
    done
    say 'To complete with TAB: mngr completion install. To begin: mngr --help'
}

main "$@"
