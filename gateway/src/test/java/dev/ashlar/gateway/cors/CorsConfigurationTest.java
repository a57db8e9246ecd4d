package dev.ashlar.gateway.cors;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.gateway.error.S3Exception;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Documents of CORS rules, and which requests they allow. */
class CorsConfigurationTest {
  private static final String RULE =
      "<CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule>";

  private static CorsConfiguration of(String rules) throws S3Exception {
    return CorsConfiguration.of(
        ("<CORSConfiguration>" + rules + "</CORSConfiguration>").getBytes(UTF_8));
  }

  private static CorsConfiguration rule(String elements) throws S3Exception {
    return of("<CORSRule>" + elements + "</CORSRule>");
  }

  @Test
  void documentsComeBack() throws Exception {
    CorsConfiguration all =
        of(
            "<CORSRule><ID>a &amp; b</ID><AllowedHeader>x-*</AllowedHeader>"
                + "<AllowedHeader>*</AllowedHeader><AllowedMethod>GET</AllowedMethod>"
                + "<AllowedMethod>HEAD</AllowedMethod><AllowedOrigin>http://*.test</AllowedOrigin>"
                + "<ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>0</MaxAgeSeconds></CORSRule>"
                + RULE);
    assertEquals(all, CorsConfiguration.of(all.document()));
    assertEquals(2, all.rules().size());
    assertEquals(0, all.rules().getFirst().maxAgeSeconds());
    assertEquals(100, of(RULE.repeat(100)).rules().size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | MalformedXML",
        "<CORSRule/> | MalformedXML",
        "<Rule/> | MalformedXML",
        "<CORSRule><AllowedMethod>GET</AllowedMethod></CORSRule> | MalformedXML",
        "<CORSRule><AllowedOrigin>*</AllowedOrigin></CORSRule> | MalformedXML",
        "<CORSRule>RULE<Other>x</Other></CORSRule> | MalformedXML",
        "<CORSRule>RULE<MaxAgeSeconds>-1</MaxAgeSeconds></CORSRule> | MalformedXML",
        "<CORSRule>RULE<MaxAgeSeconds>1e3</MaxAgeSeconds></CORSRule> | MalformedXML",
        "<CORSRule>RULE<MaxAgeSeconds>9999999999</MaxAgeSeconds></CORSRule> | MalformedXML",
        "<CORSRule>RULE<AllowedMethod>OPTIONS</AllowedMethod></CORSRule> | InvalidRequest",
        "<CORSRule>RULE<AllowedMethod>get</AllowedMethod></CORSRule> | InvalidRequest",
        "<CORSRule>RULE<AllowedMethod>PATCH</AllowedMethod></CORSRule> | InvalidRequest",
        "<CORSRule>RULE<AllowedOrigin>http://*.*</AllowedOrigin></CORSRule> | InvalidRequest",
        "<CORSRule>RULE<AllowedOrigin></AllowedOrigin></CORSRule> | InvalidRequest",
        "<CORSRule>RULE<AllowedHeader>*x*</AllowedHeader></CORSRule> | InvalidRequest",
        "<CORSRule>RULE<ExposeHeader>x-*</ExposeHeader></CORSRule> | InvalidRequest",
        "<CORSRule>RULE<ExposeHeader>a&#13;&#10;Set-Cookie: b</ExposeHeader></CORSRule>"
            + " | InvalidRequest",
        "<CORSRule>RULE<ExposeHeader>a, b</ExposeHeader></CORSRule> | InvalidRequest",
      })
  void documentsThatAreRefused(String rules, String code) {
    String whole =
        rules.replace("RULE", "<AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin>");
    S3Exception refused = assertThrows(S3Exception.class, () -> of(whole));
    assertEquals(code, refused.error().code());
  }

  @Test
  void limits() throws Exception {
    refused("InvalidRequest", RULE.repeat(101));
    String id = "<ID>" + "i".repeat(255) + "</ID>";
    of(RULE.replace("<CORSRule>", "<CORSRule>" + id));
    refused("InvalidArgument", RULE.replace("<CORSRule>", "<CORSRule>" + id.replace("i<", "ii<")));
    refused("MaxMessageLengthExceeded", RULE + " ".repeat(64 << 10));
  }

  private static void refused(String code, String rules) {
    S3Exception refused = assertThrows(S3Exception.class, () -> of(rules));
    assertEquals(code, refused.error().code());
  }

  @ParameterizedTest
  @CsvSource({
    "*, https://a.test, true",
    "*, null, true",
    "https://a.test, https://a.test, true",
    "https://a.test, https://A.test, false",
    "https://a.test, https://a.test.evil.test, false",
    "https://a.test, http://a.test, false",
    "https://*.a.test, https://b.a.test, true",
    "https://*.a.test, https://.a.test, true",
    "https://*.a.test, https://a.test, false",
    "https://*.a.test, https://evil.test/.a.test, true",
    "https://*.a.test, https://b.a.test.evil.test, false",
    "https://*, http://a.test, false",
    "aa*aa, aaa, false",
    "aa*aa, aaaa, true"
  })
  void origins(String allowed, String origin, boolean matches) throws Exception {
    Map<String, String> answer =
        rule("<AllowedMethod>GET</AllowedMethod><AllowedOrigin>" + allowed + "</AllowedOrigin>")
            .answer(origin, "GET", List.of());
    assertEquals(!matches, answer.isEmpty());
    if (matches) {
      assertEquals(allowed.equals("*") ? "*" : origin, answer.get("Access-Control-Allow-Origin"));
      assertEquals(
          allowed.equals("*") ? null : "true", answer.get("Access-Control-Allow-Credentials"));
    }
  }

  @Property(tries = 2000)
  void wildcardsMeanAnyText(
      @ForAll @CharRange(from = 'a', to = 'c') @StringLength(max = 5) String prefix,
      @ForAll @CharRange(from = 'a', to = 'c') @StringLength(max = 5) String suffix,
      @ForAll @CharRange(from = 'a', to = 'c') @StringLength(max = 12) String text) {
    assertEquals(
        text.matches(prefix + ".*" + suffix),
        new CorsPattern(prefix + "*" + suffix).matches(text, false));
  }

  @Test
  void headersAndMethods() throws Exception {
    CorsConfiguration rules =
        of(
            "<CORSRule><AllowedMethod>PUT</AllowedMethod><AllowedMethod>GET</AllowedMethod>"
                + "<AllowedOrigin>http://a.test</AllowedOrigin>"
                + "<AllowedHeader>x-amz-*</AllowedHeader><AllowedHeader>Range</AllowedHeader>"
                + "</CORSRule>"
                + "<CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin>"
                + "<ExposeHeader>ETag</ExposeHeader><ExposeHeader>Date</ExposeHeader>"
                + "<MaxAgeSeconds>5</MaxAgeSeconds></CORSRule>");
    Map<String, String> first =
        rules.answer("http://a.test", "PUT", List.of("X-Amz-Meta-A", "RANGE"));
    assertEquals("PUT, GET", first.get("Access-Control-Allow-Methods"));
    assertEquals("x-amz-meta-a, range", first.get("Access-Control-Allow-Headers"));
    assertEquals(
        "Origin, Access-Control-Request-Headers, Access-Control-Request-Method", first.get("Vary"));
    assertEquals(Map.of(), rules.answer("http://a.test", "PUT", List.of("authorization")));
    assertEquals(Map.of(), rules.answer("http://b.test", "PUT", List.of()));
    assertEquals(Map.of(), rules.answer("http://b.test", "HEAD", List.of()));
    Map<String, String> second = rules.answer("http://b.test", "GET", List.of());
    assertEquals("ETag, Date", second.get("Access-Control-Expose-Headers"));
    assertEquals("5", second.get("Access-Control-Max-Age"));
    assertEquals(null, second.get("Access-Control-Allow-Headers"));
  }
}
