package dev.ashlar.gateway.s3;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The hosts that name a bucket, as in {@code bucket.s3.example.com}.
 *
 * @param domains in lower case, below which a host names a bucket; without them every request is
 *     path-style
 */
public record VirtualHosts(List<String> domains) {
  public VirtualHosts {
    domains = List.copyOf(domains);
  }

  /** The same with further domains. */
  public VirtualHosts and(List<String> more) {
    List<String> all = new ArrayList<>(domains);
    all.addAll(more);
    return new VirtualHosts(all);
  }

  /** The bucket that the Host header names, in lower case; null if it names none. */
  public @Nullable String bucket(HttpHeaders headers) {
    if (domains.isEmpty()) {
      return null;
    }
    String host = headers.get(HttpHeaderNames.HOST, "");
    int colon = host.lastIndexOf(':');
    String name = (colon < 0 ? host : host.substring(0, colon)).toLowerCase(Locale.ROOT);
    for (String domain : domains) {
      int dot = name.length() - domain.length() - 1;
      if (dot > 0 && name.charAt(dot) == '.' && name.endsWith(domain)) {
        return name.substring(0, dot);
      }
    }
    return null;
  }
}
