# SPDX-License-Identifier: Apache-2.0
# needs: tmux
export TMUX_TMPDIR="$PWD" TERM=xterm
tmux -f /dev/null -L t new-session -d -x 80 -y 24 'stty size >size; tmux -L t wait-for -S end; sleep 5'
tmux -L t wait-for end
tmux -L t kill-server
grep -q '^2[34] 80' size
echo done
