#!/bin/sh
# Unpacks Debian's hledger, ledger and zbarimg under $1, with the libraries that this machine lacks. Nothing is
# installed, and no rights of root are needed; apt checks the signatures as always.
set -eu
for program in hledger ledger zbarimg; do command -v $program > /dev/null || missing=$program; done
if [ -z "${missing-}" ]; then exit; fi
rm -rf "$1"
mkdir -p "$1/fetched/state/lists/partial" "$1/fetched/archives/partial"
here=$(cd "$1" && pwd)
own() {
    apt-get -qq -o Dir::State="$here/fetched/state" -o Dir::State::status=/var/lib/dpkg/status \
        -o Dir::Cache="$here/fetched" -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
        -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 "$@"
}
own update
own install -y --download-only --no-install-recommends hledger ledger zbar-tools
for package in "$here"/fetched/archives/*.deb; do dpkg -x "$package" "$here"; done
rm -r "$here/fetched"
