package dev.ashlar.gateway.website;

import dev.ashlar.gateway.s3.VirtualHosts;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The hosts of websites. A host below one of the domains names a bucket, as in {@code
 * bucket.web.example.com}; the domain itself names the bucket that is called as it is.
 *
 * @param domains in lower case
 */
public record SiteHosts(List<String> domains) {
  private static final Pattern PORT = Pattern.compile(":[0-9]{1,5}");

  public SiteHosts {
    domains = List.copyOf(domains);
  }

  /** The bucket whose website the Host header names, in lower case; null if it names none. */
  public @Nullable String bucket(HttpHeaders headers) {
    String host = headers.get(HttpHeaderNames.HOST, "");
    int colon = host.lastIndexOf(':');
    // Redirects repeat the host, so nothing else may stand behind the colon.
    if (domains.isEmpty() || (colon >= 0 && !PORT.matcher(host.substring(colon)).matches())) {
      return null;
    }
    String name = (colon < 0 ? host : host.substring(0, colon)).toLowerCase(Locale.ROOT);
    return domains.contains(name) ? name : new VirtualHosts(domains).bucket(headers);
  }
}
