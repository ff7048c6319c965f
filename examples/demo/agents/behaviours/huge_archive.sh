# shellcheck shell=sh
# huge_archive: puts 1 GB where the archive belongs, past the tool that would refuse it. A hole needs no space on the disk.
huge_archive() {
    mkdir -p "$MNGR_AGENT_STATE_DIR/plugin/tmr"
    dd if=/dev/zero of="$DESK/huge" bs=1 count=0 seek=1073741824 2>/dev/null
    mv "$DESK/huge" "$MNGR_AGENT_STATE_DIR/plugin/tmr/outputs.tar.gz"
}
