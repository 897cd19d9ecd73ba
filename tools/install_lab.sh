#!/usr/bin/env bash
# Installs what the lab tests need on Debian or Ubuntu: a browser, fio, a C compiler. Needs root; does nothing twice.
set -euo pipefail

packages=(chromium fio gcc libc6-dev)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then
  echo "lab: everything is installed"
  exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "lab: needs root to install: ${missing[*]}" >&2
  exit 2
fi
export DEBIAN_FRONTEND=noninteractive
timeout 300 apt-get update -q
timeout 900 apt-get install -y -q --no-install-recommends "${missing[@]}"
