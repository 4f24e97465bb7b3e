// SPDX-License-Identifier: Apache-2.0
#include "egress/tls.h"

#include <cstdlib>
#include <fstream>
#include <openssl/err.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "egress/http_rig_test.h"
#include "egress/tls_pair_test.h"

namespace cordon::egress {
namespace {

// Both ends by hand, as far as they come. True: both are done.
bool shake(SSL* client, SSL* server) {
  for (SSL* const end : {client, server})
    ::SSL_set_bio(end, ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
  const auto carry = [](SSL* from, SSL* to) {
    std::array<char, 4096> bytes{};
    for (int size = 0; (size = ::BIO_read(::SSL_get_wbio(from), bytes.data(), bytes.size())) > 0;)
      ::BIO_write(::SSL_get_rbio(to), bytes.data(), size);
  };
  for (int turn = 0; turn < 6; ++turn) {
    static_cast<void>(::SSL_do_handshake(client));
    carry(client, server);
    static_cast<void>(::SSL_do_handshake(server));
    carry(server, client);
  }
  ::ERR_clear_error();
  return ::SSL_is_init_finished(client) == 1 && ::SSL_is_init_finished(server) == 1;
}

class TlsServerTest : public ::testing::Test {
 protected:
  OwnedSsl server() { return *server_.accept(*authority_.leaf(kName)); }
  // A client that checks nothing, so that what fails is the server's doing.
  static OwnedSsl client(int least, int most, const std::string& protocols = {}) {
    static SslContext context{::SSL_CTX_new(::TLS_client_method())};
    ::SSL_CTX_set_security_level(context.get(), 0);
    OwnedSsl ssl{::SSL_new(context.get())};
    ::SSL_set_min_proto_version(ssl.get(), least);
    ::SSL_set_max_proto_version(ssl.get(), most);
    SSL_set_tlsext_host_name(ssl.get(), kName);
    ::SSL_set_alpn_protos(ssl.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                          static_cast<unsigned>(protocols.size()));
    ::SSL_set_connect_state(ssl.get());
    return ssl;
  }

  CertificateAuthority authority_ = *CertificateAuthority::create(
      {kName}, std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()));
  TlsServer server_ = *TlsServer::create();
};

TEST_F(TlsServerTest, SpeaksOnly12And13) {
  const auto speaks = [&](int version) {
    return shake(client(version, version).get(), server().get());
  };
  EXPECT_TRUE(speaks(TLS1_3_VERSION));
  EXPECT_TRUE(speaks(TLS1_2_VERSION));
  EXPECT_FALSE(speaks(TLS1_1_VERSION));
  EXPECT_FALSE(speaks(TLS1_VERSION));
}

TEST_F(TlsServerTest, AgreesOnHttp11OrOnNothing) {
  const auto agreed = [&](const std::string& offered) -> std::string {
    const OwnedSsl ours = server();
    if (!shake(client(TLS1_2_VERSION, TLS1_3_VERSION, offered).get(), ours.get())) return "refused";
    const unsigned char* name = nullptr;
    unsigned size = 0;
    ::SSL_get0_alpn_selected(ours.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  };
  EXPECT_EQ(agreed(""), "");
  EXPECT_EQ(agreed("\x02h2\x08http/1.1"), "http/1.1");
  EXPECT_EQ(agreed("\x02h2"), "refused");
}

TEST_F(TlsServerTest, GivesNoTicketsAndResumesNothing) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const OwnedSsl first = client(version, version);
    ASSERT_TRUE(shake(first.get(), server().get()));
    char byte = 0;
    static_cast<void>(::SSL_read(first.get(), &byte, 1));  // where tickets of 1.3 would come
    SSL_SESSION* const session = ::SSL_get1_session(first.get());
    EXPECT_EQ(::SSL_SESSION_has_ticket(session), 0);
    const OwnedSsl second = client(version, version);
    ::SSL_set_session(second.get(), session);
    ASSERT_TRUE(shake(second.get(), server().get()));
    EXPECT_EQ(::SSL_session_reused(second.get()), 0);
    ::SSL_SESSION_free(session);
  }
}

TEST_F(TlsServerTest, DoesNotNegotiateAgain) {
  const OwnedSsl theirs = client(TLS1_2_VERSION, TLS1_2_VERSION);
  const OwnedSsl ours = server();
  ASSERT_TRUE(shake(theirs.get(), ours.get()));
  ASSERT_EQ(::SSL_renegotiate(theirs.get()), 1);
  static_cast<void>(::SSL_do_handshake(theirs.get()));
  std::array<char, 4096> bytes{};
  const int size = ::BIO_read(::SSL_get_wbio(theirs.get()), bytes.data(), bytes.size());
  ASSERT_GT(size, 0);
  ::BIO_write(::SSL_get_rbio(ours.get()), bytes.data(), size);
  char byte = 0;
  static_cast<void>(::SSL_read(ours.get(), &byte, 1));
  EXPECT_EQ(::SSL_get_state(ours.get()), TLS_ST_OK);  // it has begun nothing
  ::ERR_clear_error();
}

TEST(TrustStore, HoldsTheSystemsAuthorities) {
  const auto store = TrustStore::load();
  if (!store && store.error().code() == Errc::not_found) GTEST_SKIP() << store.error().text();
  ASSERT_TRUE(store) << store.error().text();
  EXPECT_GT(store->size(), 0U);
}

TEST(TrustStore, RefusesWhatItCannotRead) {
  const std::string good = pem_of(test_authority().certificate.get());
  EXPECT_EQ(TrustStore::from_pem("# a comment\n" + good + "\n" + good)->size(), 2U);
  EXPECT_FALSE(TrustStore::from_pem(""));
  EXPECT_FALSE(TrustStore::from_pem("no certificate"));
  EXPECT_FALSE(TrustStore::from_pem(good + good.substr(0, good.size() / 2)));
}

TEST(TlsClient, TrustsNoAuthorityThatTheEnvironmentNames) {
  const Pair stranger = test_authority();
  const std::string path = ::testing::TempDir() + "/stranger-" + std::to_string(::getpid());
  std::ofstream{path} << pem_of(stranger.certificate.get());
  ::setenv("SSL_CERT_FILE", path.c_str(), 1);
  ::setenv("SSL_CERT_DIR", ::testing::TempDir().c_str(), 1);
  const auto trusts = [&](const Pair& trusted) {
    const auto client = TlsClient::create(*TrustStore::from_pem(pem_of(trusted.certificate.get())));
    const Pair host = test_certificate(stranger, kName, life_around(-1h, 1h));
    const SslContext context{::SSL_CTX_new(::TLS_server_method())};
    ::SSL_CTX_use_certificate(context.get(), host.certificate.get());
    ::SSL_CTX_use_PrivateKey(context.get(), host.key.get());
    const OwnedSsl server{::SSL_new(context.get())};
    ::SSL_set_accept_state(server.get());
    return shake(client->connect(kName)->get(), server.get());
  };
  EXPECT_FALSE(trusts(test_authority()));
  EXPECT_TRUE(trusts(stranger));
  ::unsetenv("SSL_CERT_FILE");
  ::unsetenv("SSL_CERT_DIR");
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST(TlsClient, TakesOneNameForOneName) {
  const Pair root = test_authority();
  const auto client = TlsClient::create(*TrustStore::from_pem(pem_of(root.certificate.get())));
  const auto accepts = [&](const std::string& shown, const std::string& wanted) {
    const Pair host = test_certificate(root, shown, life_around(-1h, 1h));
    const SslContext context{::SSL_CTX_new(::TLS_server_method())};
    ::SSL_CTX_use_certificate(context.get(), host.certificate.get());
    ::SSL_CTX_use_PrivateKey(context.get(), host.key.get());
    const OwnedSsl server{::SSL_new(context.get())};
    ::SSL_set_accept_state(server.get());
    return shake(client->connect(wanted)->get(), server.get());
  };
  EXPECT_TRUE(accepts("a.example.com", "a.example.com"));
  EXPECT_TRUE(accepts("*.example.com", "a.example.com"));
  EXPECT_FALSE(accepts("*.example.com", "a.b.example.com"));
  EXPECT_FALSE(accepts("*.example.com", "example.com"));
  EXPECT_FALSE(accepts("a*.example.com", "ab.example.com"));
  EXPECT_FALSE(accepts("b.example.com", "a.example.com"));
  EXPECT_FALSE(accepts("192.0.2.1", "192.0.2.1"));  // a name that looks like an address is none
  EXPECT_FALSE(client->connect("no host"));
}

}  // namespace
}  // namespace cordon::egress
