package dev.ashlar.gateway.session;

import static dev.ashlar.gateway.iam.TestIam.ACCOUNT;
import static dev.ashlar.gateway.iam.TestIam.OTHER_ACCOUNT;
import static dev.ashlar.gateway.iam.TestIam.OTHER_ROOT;
import static dev.ashlar.gateway.iam.TestIam.ROOT;
import static dev.ashlar.gateway.iam.TestIam.allow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.ashlar.gateway.iam.TestIam;
import dev.ashlar.gateway.iam.TestIam.AccessKey;
import dev.ashlar.gateway.iam.TestIam.Answer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Sessions for the bearers of tokens of an identity provider. */
class WebIdentityTest {
  private static final String URL = "https://idp.test/realm";
  private static final String PROVIDER =
      "arn:aws:iam::" + ACCOUNT + ":oidc-provider/idp.test/realm";
  private static final String ROLE = "arn:aws:iam::" + ACCOUNT + ":role/reader";
  private static final RSAKey RSA = rsa("rsa-1");
  private static final ECKey EC = ec();

  private final TestIam iam = new TestIam();

  private static RSAKey rsa(String id) {
    try {
      return new RSAKeyGenerator(2048).keyID(id).generate();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static ECKey ec() {
    try {
      return new ECKeyGenerator(Curve.P_256).keyID("ec-1").generate();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  WebIdentityTest() throws Exception {
    iam.keys = provider -> new ImmutableJWKSet<>(new JWKSet(List.of(RSA, EC)).toPublicJWKSet());
    create(ROOT, URL, "client-1");
    role(
        "{\"Version\":\"2012-10-17\",\"Statement\":{\"Effect\":\"Allow\",\"Principal\":{\"Federated\":\""
            + PROVIDER
            + "\"},\"Action\":\"sts:AssumeRoleWithWebIdentity\",\"Condition\":{\"StringEquals\":"
            + "{\"idp.test/realm:sub\":\"alice\",\"idp.test/realm:aud\":\"client-1\"}}}}");
  }

  private void create(AccessKey root, String url, String client) throws Exception {
    iam.iam(
        root,
        "CreateOpenIDConnectProvider",
        "Url",
        url,
        "ClientIDList.member.1",
        client,
        "ThumbprintList.member.1",
        "ab".repeat(20));
  }

  private void role(String trust) throws Exception {
    iam.iam(ROOT, "CreateRole", "RoleName", "reader", "AssumeRolePolicyDocument", trust);
    iam.iam(
        ROOT,
        "PutRolePolicy",
        "RoleName",
        "reader",
        "PolicyName",
        "p",
        "PolicyDocument",
        allow("iam:ListUsers", "*"));
  }

  private JWTClaimsSet.Builder claims() {
    Date now = Date.from(iam.clock.instant());
    return new JWTClaimsSet.Builder()
        .issuer(URL)
        .subject("alice")
        .audience("client-1")
        .issueTime(now)
        .expirationTime(Date.from(iam.clock.instant().plusSeconds(300)));
  }

  private static String sign(JWTClaimsSet claims, RSAKey key) throws Exception {
    SignedJWT token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(key.getKeyID()).build(), claims);
    token.sign(new RSASSASigner(key));
    return token.serialize();
  }

  private String token(UnaryOperator<JWTClaimsSet.Builder> change) throws Exception {
    return sign(change.apply(claims()).build(), RSA);
  }

  private Answer assume(String token, String... more) throws Exception {
    String[] first = {"RoleArn", ROLE, "RoleSessionName", "work", "WebIdentityToken", token};
    String[] all = Arrays.copyOf(first, first.length + more.length);
    System.arraycopy(more, 0, all, first.length, more.length);
    return iam.unsigned("AssumeRoleWithWebIdentity", all);
  }

  private void refused(String code, String token, String... more) throws Exception {
    Answer answer = assume(token, more);
    assertEquals(code, answer.value("Code"), answer.text());
    assertTrue(answer.value("SecretAccessKey").isEmpty());
  }

  @Test
  void bearerOfATokenGetsTheRightsOfTheRole() throws Exception {
    Answer answer = assume(token(claims -> claims));
    assertEquals(200, answer.status(), answer.text());
    assertEquals("alice", answer.value("SubjectFromWebIdentityToken"));
    assertEquals("client-1", answer.value("Audience"));
    assertEquals(PROVIDER, answer.value("Provider"));
    assertEquals("arn:aws:sts::" + ACCOUNT + ":assumed-role/reader/work", answer.value("Arn"));
    iam.iam(answer.key(), "ListUsers");
    iam.refused("AccessDenied", answer.key(), "ListGroups");
    iam.advance(Duration.ofHours(1));
    iam.refused("ExpiredToken", answer.key(), "ListUsers");
  }

  @Test
  void sessionPoliciesAndDurationsLimit() throws Exception {
    String token = token(claims -> claims);
    AccessKey key = assume(token, "Policy", allow("iam:ListGroups", "*")).key();
    iam.refused("AccessDenied", key, "ListUsers");
    refused("ValidationError", token, "DurationSeconds", "3601");
    refused("ValidationError", token, "DurationSeconds", "899");
    refused("ValidationError", token, "ProviderId", "www.example.com");
  }

  @Test
  void ellipticCurvesSignToo() throws Exception {
    SignedJWT token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("ec-1").build(), claims().build());
    token.sign(new ECDSASigner(EC));
    assertEquals(200, assume(token.serialize()).status());
  }

  @Test
  void timesHaveAMinuteOfSkew() throws Exception {
    String token = token(claims -> claims);
    iam.advance(Duration.ofSeconds(359));
    assertEquals(200, assume(token).status());
    iam.advance(Duration.ofSeconds(1));
    refused("ExpiredTokenException", token);
    iam.advance(Duration.ofSeconds(-421));
    refused("InvalidIdentityToken", token);
    iam.advance(Duration.ofSeconds(1));
    assertEquals(200, assume(token).status());
    Date later = Date.from(iam.clock.instant().plusSeconds(61));
    refused("InvalidIdentityToken", token(claims -> claims.notBeforeTime(later)));
    refused("InvalidIdentityToken", token(claims -> claims.issueTime(null)));
    refused("InvalidIdentityToken", token(claims -> claims.expirationTime(null)));
  }

  @Test
  void audienceHasToBeAClientOfTheProvider() throws Exception {
    refused("InvalidIdentityToken", token(claims -> claims.audience("client-2")));
    refused("InvalidIdentityToken", token(claims -> claims.claim("azp", "client-2")));
    refused("InvalidIdentityToken", token(claims -> claims.audience((String) null)));
    assertEquals(
        200, assume(token(claims -> claims.audience(List.of("other", "client-1")))).status());
    assertEquals(
        200, assume(token(claims -> claims.audience("other").claim("azp", "client-1"))).status());
    String[] client = {"OpenIDConnectProviderArn", PROVIDER, "ClientID", "client-1"};
    iam.iam(ROOT, "RemoveClientIDFromOpenIDConnectProvider", client);
    refused("InvalidIdentityToken", token(claims -> claims));
    iam.iam(ROOT, "AddClientIDToOpenIDConnectProvider", client);
    assertEquals(200, assume(token(claims -> claims)).status());
  }

  @Test
  void trustPolicyDecidesWhoOfTheProvider() throws Exception {
    refused("AccessDenied", token(claims -> claims.subject("bob")));
    refused("AccessDenied", token(claims -> claims.subject("ALICE")));
    refused("InvalidIdentityToken", token(claims -> claims.subject(null)));
    iam.iam(
        ROOT,
        "UpdateAssumeRolePolicy",
        "RoleName",
        "reader",
        "PolicyDocument",
        TestIam.trust(ACCOUNT));
    refused("AccessDenied", token(claims -> claims));
  }

  // ---- Session tags ----

  private static final String TAGS = "https://aws.amazon.com/tags";

  private static Map<String, Object> principalTags(Object value) {
    return Map.of("principal_tags", Map.of("Department", value));
  }

  /** Lets bearers in with this condition, and lets their sessions do what the policy says. */
  private void trust(String actions, String condition, String policy) throws Exception {
    iam.iam(
        ROOT,
        "UpdateAssumeRolePolicy",
        "RoleName",
        "reader",
        "PolicyDocument",
        "{\"Version\":\"2012-10-17\",\"Statement\":{\"Effect\":\"Allow\",\"Principal\":{\"Federated\":\""
            + PROVIDER
            + "\"},\"Action\":["
            + actions
            + "],\"Condition\":{\"StringEquals\":{"
            + condition
            + "}}}}");
    iam.iam(
        ROOT,
        "PutRolePolicy",
        "RoleName",
        "reader",
        "PolicyName",
        "p",
        "PolicyDocument",
        "{\"Version\":\"2012-10-17\",\"Statement\":{\"Effect\":\"Allow\",\"Action\":\"iam:ListUsers\","
            + "\"Resource\":\"*\",\"Condition\":{\"StringEquals\":{"
            + policy
            + "}}}}");
  }

  private static final String BOTH = "\"sts:AssumeRoleWithWebIdentity\",\"sts:TagSession\"";

  @Test
  void tagsOfATokenAreThoseOfItsSession() throws Exception {
    trust(
        BOTH,
        "\"aws:RequestTag/department\":\"Engineering\",\"aws:TagKeys\":\"Department\"",
        "\"aws:PrincipalTag/Department\":\"Engineering\"");
    for (Object tags :
        List.of(
            principalTags(List.of("Engineering")),
            principalTags("Engineering"),
            List.of(principalTags(List.of("Engineering"))))) {
      Answer answer = assume(token(claims -> claims.claim(TAGS, tags)));
      assertEquals(200, answer.status(), answer.text());
      iam.iam(answer.key(), "ListUsers");
    }
    String flat = token(claims -> claims.claim(TAGS + "/principal_tags/Department", "Engineering"));
    iam.iam(assume(flat).key(), "ListUsers");
    refused("AccessDenied", token(claims -> claims.claim(TAGS, principalTags("Marketing"))));
    refused("AccessDenied", token(claims -> claims));
  }

  @Test
  void tagsNeedTheRightToTag() throws Exception {
    trust(
        "\"sts:AssumeRoleWithWebIdentity\"",
        "\"idp.test/realm:sub\":\"alice\"",
        "\"aws:PrincipalTag/Department\":\"Engineering\"");
    assertEquals(200, assume(token(claims -> claims)).status());
    refused("AccessDenied", token(claims -> claims.claim(TAGS, principalTags("Engineering"))));
  }

  @Test
  void malformedTagsOfATokenAreRefused() throws Exception {
    trust(BOTH, "\"idp.test/realm:sub\":\"alice\"", "\"aws:PrincipalTag/a\":\"b\"");
    for (Object tags :
        List.of(
            "Engineering",
            List.of(1, 2),
            principalTags(List.of("Engineering", "Marketing")),
            principalTags(List.of()),
            principalTags(7),
            Map.of("principal_tags", List.of("a")),
            Map.of("principal_tags", Map.of(), "transitive_tag_keys", List.of("a")))) {
      refused("InvalidIdentityToken", token(claims -> claims.claim(TAGS, tags)));
    }
    refused(
        "InvalidInput",
        token(claims -> claims.claim(TAGS, Map.of("principal_tags", Map.of("a", "1", "A", "2")))));
    refused(
        "InvalidInput",
        token(claims -> claims.claim(TAGS, Map.of("principal_tags", Map.of("aws:a", "1")))));
  }

  @Test
  void trustPoliciesSeeTheTagsOfTheRole() throws Exception {
    trust(BOTH, "\"aws:ResourceTag/team\":\"red\"", "\"aws:PrincipalTag/team\":\"red\"");
    refused("AccessDenied", token(claims -> claims));
    iam.iam(
        ROOT,
        "TagRole",
        "RoleName",
        "reader",
        "Tags.member.1.Key",
        "Team",
        "Tags.member.1.Value",
        "red");
    iam.iam(assume(token(claims -> claims)).key(), "ListUsers");
  }

  @Test
  void otherRolesOfTheAccountAndAbsentOnesAreDenied() throws Exception {
    iam.iam(
        ROOT, "CreateRole", "RoleName", "closed", "AssumeRolePolicyDocument", TestIam.trust("*"));
    for (String name : List.of("closed", "none")) {
      Answer answer =
          iam.unsigned(
              "AssumeRoleWithWebIdentity",
              "RoleArn",
              "arn:aws:iam::" + ACCOUNT + ":role/" + name,
              "RoleSessionName",
              "work",
              "WebIdentityToken",
              token(claims -> claims));
      assertEquals("AccessDenied", answer.value("Code"), answer.text());
    }
  }

  @Test
  void providersOfOtherAccountsDoNotCount() throws Exception {
    create(OTHER_ROOT, "https://evil.test", "client-1");
    refused("InvalidIdentityToken", token(claims -> claims.issuer("https://evil.test")));
    // Nor does a provider of the same name in another account bring its bearers in here.
    create(OTHER_ROOT, URL, "client-2");
    refused("InvalidIdentityToken", token(claims -> claims.audience("client-2")));
    String provider = "arn:aws:iam::" + OTHER_ACCOUNT + ":oidc-provider/idp.test/realm";
    iam.refused(
        "NoSuchEntity", ROOT, "GetOpenIDConnectProvider", "OpenIDConnectProviderArn", provider);
  }

  @Test
  void deletedProviderEndsItsTokensUse() throws Exception {
    String token = token(claims -> claims);
    iam.iam(ROOT, "DeleteOpenIDConnectProvider", "OpenIDConnectProviderArn", PROVIDER);
    refused("InvalidIdentityToken", token);
  }

  // ---- Forged tokens ----

  @Test
  void unsignedTokensAreRefused() throws Exception {
    refused("InvalidIdentityToken", new PlainJWT(claims().build()).serialize());
    String signed = token(claims -> claims);
    refused("InvalidIdentityToken", signed.substring(0, signed.lastIndexOf('.') + 1));
    refused("InvalidIdentityToken", signed.substring(0, signed.lastIndexOf('.')));
    refused("InvalidIdentityToken", "....");
    refused("InvalidIdentityToken", "null");
  }

  @Test
  void publicKeyIsNoSecretOfAnHmac() throws Exception {
    byte[] secret = RSA.toRSAPublicKey().getEncoded();
    SignedJWT token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("rsa-1").build(), claims().build());
    token.sign(new MACSigner(secret));
    refused("InvalidIdentityToken", token.serialize());
  }

  @Test
  void keysInsideATokenAreNotTrusted() throws Exception {
    RSAKey own = rsa("rsa-1");
    refused("InvalidIdentityToken", sign(claims().build(), own));
    SignedJWT token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.RS256).jwk(own.toPublicJWK()).build(),
            claims().build());
    token.sign(new RSASSASigner(own));
    refused("InvalidIdentityToken", token.serialize());
    refused("InvalidIdentityToken", sign(claims().build(), rsa("rsa-2")));
  }

  @Test
  void alteredTokensAreRefused() throws Exception {
    String token = token(claims -> claims);
    for (int i = 0; i < token.length(); i++) {
      char other = token.charAt(i) == 'A' ? 'B' : 'A';
      String altered = token.substring(0, i) + other + token.substring(i + 1);
      // The last letter of Base64 has bits that mean nothing.
      if (!SignedJWTs.sameMeaning(token, altered)) {
        assertNotEquals(200, assume(altered).status(), altered);
      }
    }
  }

  /** Whether two tokens are the same bytes. */
  private static final class SignedJWTs {
    static boolean sameMeaning(String one, String other) {
      String[] a = one.split("\\.", -1);
      String[] b = other.split("\\.", -1);
      if (a.length != b.length) {
        return false;
      }
      for (int i = 0; i < a.length; i++) {
        if (!Arrays.equals(
            new com.nimbusds.jose.util.Base64URL(a[i]).decode(),
            new com.nimbusds.jose.util.Base64URL(b[i]).decode())) {
          return false;
        }
      }
      return true;
    }
  }

  @Test
  void unreachableProviderIsSaidSo() throws Exception {
    iam.keys =
        provider ->
            (selector, context) -> {
              throw new KeySourceException("no route to 10.0.0.7");
            };
    Answer answer = assume(token(claims -> claims));
    assertEquals("InvalidIdentityToken", answer.value("Code"));
    assertTrue(!answer.text().contains("10.0.0.7"), answer.text());
  }

  // ---- The actions of IAM ----

  @Test
  void providersAreListedAndChanged() throws Exception {
    Answer got = iam.iam(ROOT, "GetOpenIDConnectProvider", "OpenIDConnectProviderArn", PROVIDER);
    assertEquals("idp.test/realm", got.value("Url"));
    assertEquals(List.of("client-1", "ab".repeat(20)), got.values("member"));
    assertEquals(List.of(PROVIDER), iam.iam(ROOT, "ListOpenIDConnectProviders").values("Arn"));
    iam.iam(
        ROOT,
        "UpdateOpenIDConnectProviderThumbprint",
        "OpenIDConnectProviderArn",
        PROVIDER,
        "ThumbprintList.member.1",
        "CD".repeat(20));
    iam.iam(
        ROOT,
        "TagOpenIDConnectProvider",
        "OpenIDConnectProviderArn",
        PROVIDER,
        "Tags.member.1.Key",
        "k",
        "Tags.member.1.Value",
        "v");
    Answer changed =
        iam.iam(ROOT, "GetOpenIDConnectProvider", "OpenIDConnectProviderArn", PROVIDER);
    assertTrue(changed.text().contains("cd".repeat(20)), changed.text());
    assertEquals("k", changed.value("Key"));
    for (int i = 0; i < 2; i++) {
      iam.iam(ROOT, "DeleteOpenIDConnectProvider", "OpenIDConnectProviderArn", PROVIDER);
    }
    iam.refused(
        "NoSuchEntity", ROOT, "GetOpenIDConnectProvider", "OpenIDConnectProviderArn", PROVIDER);
  }

  @Test
  void badProvidersAreRefused() throws Exception {
    String create = "CreateOpenIDConnectProvider";
    iam.refused("EntityAlreadyExists", ROOT, create, "Url", URL);
    for (String url :
        List.of("http://a.test", "https://", "https://a.test?b", "https://u@a.test", "ftp://a")) {
      iam.refused("ValidationError", ROOT, create, "Url", url);
    }
    String other = "https://b.test";
    iam.refused(
        "ValidationError", ROOT, create, "Url", other, "ThumbprintList.member.1", "zz".repeat(20));
    iam.refused(
        "InvalidInput",
        ROOT,
        create,
        "Url",
        other,
        "ClientIDList.member.1",
        "a",
        "ClientIDList.member.2",
        "a");
    String[] many = new String[2 + 2 * 101];
    many[0] = "Url";
    many[1] = other;
    for (int i = 1; i <= 101; i++) {
      many[2 * i] = "ClientIDList.member." + i;
      many[2 * i + 1] = "client-" + i;
    }
    iam.refused("LimitExceeded", ROOT, create, many);
  }

  @Test
  void usersNeedTheRightToProviders() throws Exception {
    AccessKey user = iam.user(ROOT, "mallory", allow("iam:*", "arn:aws:iam::*:user/*"));
    iam.refused("AccessDenied", user, "ListOpenIDConnectProviders");
    iam.refused("AccessDenied", user, "CreateOpenIDConnectProvider", "Url", "https://evil.test");
    for (String action : List.of("GetOpenIDConnectProvider", "DeleteOpenIDConnectProvider")) {
      iam.refused("AccessDenied", user, action, "OpenIDConnectProviderArn", PROVIDER);
    }
  }
}
