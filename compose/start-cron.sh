#!/bin/sh
# What the image's target `cron` starts: the jobs of /etc/pinakes/crontab, as the user pinakes, with this
# container's variables of Pinakes, which cron would not hand on. Jobs write their logs into /srv/pinakes.
set -eu
{
    echo "SHELL=/bin/sh"
    echo "PATH=$PATH"
    env | grep -E '^(PINAKES_|HF_HOME=)' | sort
    cat "${CRONTAB:-/etc/pinakes/crontab}"
} | crontab -u pinakes -
exec cron -f
