// SPDX-License-Identifier: Apache-2.0
// Where distributions keep the certificates of the authorities that they trust.
#pragma once

namespace cordon::os {

// In the order in which they are looked for: the first that is there counts.
inline constexpr const char* kSystemBundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/ssl/cert.pem",                                  // Alpine
};

}  // namespace cordon::os
