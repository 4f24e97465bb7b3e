# SPDX-License-Identifier: Apache-2.0
# needs: gpg
export GNUPGHOME="$PWD"
chmod 700 .
gpg --batch --quiet --passphrase '' --quick-gen-key 'name <name@example.org>' default default never
echo a | gpg --batch --quiet --clearsign >signed
gpg --batch --quiet --verify signed
gpgconf --kill all
echo done
