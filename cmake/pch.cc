// SPDX-License-Identifier: Apache-2.0
// Exists only so that one target owns the precompiled header that all others reuse.
