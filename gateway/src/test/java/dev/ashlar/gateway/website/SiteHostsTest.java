package dev.ashlar.gateway.website;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SiteHostsTest {
  private static String bucket(SiteHosts hosts, String host) {
    return String.valueOf(hosts.bucket(new DefaultHttpHeaders().set("Host", host)));
  }

  @ParameterizedTest
  @CsvSource({
    "b.web.test, b",
    "B.Web.Test:9000, b",
    "a.b.web.test, a.b",
    "web.test, web.test",
    "www.my.test:80, www.my.test",
    "x.www.my.test, x",
    "my.test, null",
    "notweb.test, null",
    "web.test.evil, null",
    ".web.test, null",
    "b.web.test:@evil.test, null",
    "b.web.test:, null",
    "'', null"
  })
  void hostsNameBuckets(String host, String bucket) {
    assertEquals(bucket, bucket(new SiteHosts(List.of("web.test", "www.my.test")), host));
  }

  @Test
  void withoutDomainsThereIsNoWebsite() {
    assertEquals("null", bucket(new SiteHosts(List.of()), "b.web.test"));
    assertEquals("null", bucket(new SiteHosts(List.of()), ""));
  }
}
