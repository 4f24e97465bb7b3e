// SPDX-License-Identifier: Apache-2.0
#include "http/server_tls.h"

#include <openssl/err.h>

#include "http/server_rig_test.h"
#include "http/tls_certificate_test.h"

namespace cordon::http {
namespace {

async::Task<void> tell_peer(Exchange& exchange) {
  co_return co_await exchange.answer(200, {}, "you are " + exchange.peer().certificate);
}

std::string long_text() {
  std::string text;
  for (int word = 0; text.size() < std::size_t{24} << 20U; ++word) text += std::to_string(word);
  return text;
}

async::Task<void> tell_much(Exchange& exchange) {
  co_return co_await exchange.answer(200, {}, long_text());
}

class HttpServerTls : public ::testing::Test {
 protected:
  ServerTlsFiles files(bool asks_clients) const {
    return {.certificates = server_.certificate_pem(),
            .key = server_.key_pem(),
            .client_authorities = asks_clients ? authority_.certificate_pem() : ""};
  }
  ServerRig::Setup setup(bool asks_clients) const {
    ServerRig::Setup made;
    made.handler = tell_peer;
    made.tcp = true;
    made.tls = *ServerTls::create(files(asks_clients));
    return made;
  }

  // What a client of OpenSSL gets for a request; empty: it was refused.
  struct Asking {
    const TestCertificate* shown = nullptr;
    int most = TLS1_3_VERSION;
    std::string protocols{};
    std::chrono::milliseconds before_reading{0};
  };
  std::string ask(const ServerRig& rig, const Asking& asking) {
    const OwnedContext context{::SSL_CTX_new(::TLS_client_method())};
    ::SSL_CTX_set_security_level(context.get(), 0);
    ::SSL_CTX_set_max_proto_version(context.get(), asking.most);
    ::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context.get()), authority_.certificate.get());
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (asking.shown != nullptr) {
      ::SSL_CTX_use_certificate(context.get(), asking.shown->certificate.get());
      ::SSL_CTX_use_PrivateKey(context.get(), asking.shown->key.get());
    }
    const OwnedSsl ssl{::SSL_new(context.get())};
    ::SSL_set_alpn_protos(ssl.get(),
                          reinterpret_cast<const unsigned char*>(asking.protocols.data()),
                          static_cast<unsigned>(asking.protocols.size()));
    const TestClient socket = rig.connect();
    ::SSL_set_fd(ssl.get(), socket.fd());
    std::string answer;
    const std::string request = get("/", "Connection: close\r\n");
    if (::SSL_connect(ssl.get()) == 1 &&
        ::SSL_write(ssl.get(), request.data(), static_cast<int>(request.size())) > 0) {
      std::this_thread::sleep_for(asking.before_reading);
      std::array<char, 4096> room{};
      for (int got = 0; (got = ::SSL_read(ssl.get(), room.data(), room.size())) > 0;)
        answer.append(room.data(), static_cast<std::size_t>(got));
      served_with_ = SSL_get_cipher_name(ssl.get());
      served_by_ = subject(::SSL_get0_peer_certificate(ssl.get()));
    }
    ::ERR_clear_error();
    return answer.substr(
        answer.find("\r\n\r\n") == std::string::npos ? answer.size() : answer.find("\r\n\r\n") + 4);
  }
  static std::string subject(const X509* certificate) {
    std::array<char, 128> room{};
    ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate), NID_commonName, room.data(),
                                room.size());
    return room.data();
  }

  TestCertificate authority_ = make_certificate("Authority", nullptr);
  TestCertificate server_ = make_certificate("node", &authority_);
  std::string served_by_;
  std::string served_with_;
};

TEST_F(HttpServerTls, Speaks12And13AndHttp11Only) {
  ServerRig rig{setup(false)};
  EXPECT_EQ(ask(rig, {}), "you are ");
  EXPECT_EQ(served_with_, "TLS_AES_128_GCM_SHA256");
  EXPECT_EQ(ask(rig, {.most = TLS1_2_VERSION}), "you are ");
  EXPECT_EQ(ask(rig, {.most = TLS1_1_VERSION}), "");
  EXPECT_EQ(ask(rig, {.protocols = "\x02h2\x08http/1.1"}), "you are ");
  EXPECT_EQ(ask(rig, {.protocols = "\x02h2"}), "");
  EXPECT_EQ(rig.counts().failed_tls, 2U);
}

TEST_F(HttpServerTls, ServesOnlyClientsWithACertificateOfTheAuthority) {
  ServerRig rig{setup(true)};
  const TestCertificate other = make_certificate("Other", nullptr);
  const TestCertificate friendly = make_certificate("gateway", &authority_);
  const TestCertificate foreign = make_certificate("gateway", &other);
  EXPECT_EQ(ask(rig, {.shown = &friendly}), "you are CN=gateway");
  EXPECT_EQ(ask(rig, {.shown = &friendly, .most = TLS1_2_VERSION}), "you are CN=gateway");
  EXPECT_EQ(ask(rig, {}), "");
  EXPECT_EQ(ask(rig, {.shown = &foreign}), "");
  EXPECT_EQ(rig.counts().requests, 2U);
}

TEST_F(HttpServerTls, TakesANewCertificateWithoutANewServer) {
  ServerRig rig{setup(false)};
  EXPECT_EQ(ask(rig, {}), "you are ");
  EXPECT_EQ(served_by_, "node");
  server_ = make_certificate("renewed", &authority_);
  rig.set_tls(*ServerTls::create(files(false)));
  EXPECT_EQ(ask(rig, {}), "you are ");
  EXPECT_EQ(served_by_, "renewed");
}

// Records of a long write go out several at once, and wait together for who reads slowly.
TEST_F(HttpServerTls, SendsLongAnswersWhole) {
  const std::string text = long_text();
  ServerRig::Setup much = setup(false);
  much.handler = tell_much;
  ServerRig rig{std::move(much)};
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const std::string got = ask(rig, {.most = version, .protocols = {}, .before_reading = 200ms});
    EXPECT_TRUE(got == text) << got.size() << " of " << text.size();
  }
}

TEST_F(HttpServerTls, EndsAHandshakeThatDoesNotCome) {
  ServerRig::Setup quick = setup(false);
  quick.times.handshake = 1s;
  ServerRig rig{std::move(quick)};
  TestClient client = rig.connect();
  ASSERT_TRUE(client.send("\x16\x03\x01"));
  EXPECT_TRUE(client.is_ended());
  EXPECT_TRUE(rig.comes([&] { return rig.counts().failed_tls == 1; }));
}

TEST_F(HttpServerTls, RefusesFilesThatDoNotFit) {
  ServerTlsFiles wrong = files(false);
  wrong.key = authority_.key_pem();
  EXPECT_FALSE(ServerTls::create(wrong));
  wrong.key = "no key";
  EXPECT_FALSE(ServerTls::create(wrong));
  wrong = files(false);
  wrong.certificates = "";
  EXPECT_FALSE(ServerTls::create(wrong));
  wrong = files(false);
  wrong.client_authorities = "no certificate";
  EXPECT_FALSE(ServerTls::create(wrong));
}

}  // namespace
}  // namespace cordon::http
