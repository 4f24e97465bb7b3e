# SPDX-License-Identifier: Apache-2.0
# needs: perl
perl -e 'use IO::Socket; use Time::HiRes qw(usleep); use File::Temp;
my $p = fork; if (!$p) { exit 3 }
waitpid $p, 0; die unless $? >> 8 == 3;
usleep 10; my $t = File::Temp->new; flock $t, 2; die unless `echo x` eq "x\n"'
echo done
