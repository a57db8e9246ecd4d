package dev.ashlar.gateway.federation;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.RemoteKeySourceException;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import com.nimbusds.jose.jwk.source.JWKSetSource;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jose.util.ResourceRetriever;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.text.ParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * Fetches the keys of providers (OpenID Connect Discovery 1.0) and keeps them for a while. Unknown
 * key ids make it fetch again, at a limited rate.
 */
public final class FetchedKeys implements ProviderKeys {
  private static final int PROVIDERS_MAX = 1000;
  private static final long KEEP_MS = 300_000;
  private static final long WAIT_MS = 15_000;
  private static final long BETWEEN_FETCHES_MS = 30_000;

  private final Function<Provider, ResourceRetriever> connections;
  private final Map<Provider, JWKSource<SecurityContext>> sources =
      new LinkedHashMap<>(16, 0.75f, true);

  public FetchedKeys() {
    this(provider -> new HttpsRetriever(provider.thumbprints()));
  }

  FetchedKeys(Function<Provider, ResourceRetriever> connections) {
    this.connections = connections;
  }

  @Override
  public JWKSource<SecurityContext> of(Provider provider) {
    synchronized (sources) {
      JWKSource<SecurityContext> source = sources.computeIfAbsent(provider, this::source);
      if (sources.size() > PROVIDERS_MAX) {
        sources.remove(sources.keySet().iterator().next());
      }
      return source;
    }
  }

  private JWKSource<SecurityContext> source(Provider provider) {
    return JWKSourceBuilder.create(new Discovered(provider, connections.apply(provider)))
        .cache(KEEP_MS, WAIT_MS)
        .rateLimited(BETWEEN_FETCHES_MS)
        .build();
  }

  /** The keys that the configuration document of a provider leads to. */
  private record Discovered(Provider provider, ResourceRetriever connection)
      implements JWKSetSource<SecurityContext> {
    @Override
    public JWKSet getJWKSet(
        JWKSetCacheRefreshEvaluator refresh, long currentTime, SecurityContext context)
        throws KeySourceException {
      try {
        String base = provider.issuer();
        String slash = base.endsWith("/") ? "" : "/";
        URL document = url(base + slash + ".well-known/openid-configuration");
        Map<String, Object> configuration =
            JSONObjectUtils.parse(connection.retrieveResource(document).getContent());
        String issuer = JSONObjectUtils.getString(configuration, "issuer");
        if (!provider.issuer().equals(issuer)) {
          throw new IOException("The configuration of " + provider.issuer() + " is of " + issuer);
        }
        String keys = JSONObjectUtils.getString(configuration, "jwks_uri");
        return JWKSet.parse(connection.retrieveResource(url(keys)).getContent());
      } catch (IOException | ParseException | URISyntaxException e) {
        throw new RemoteKeySourceException(
            "The keys of " + provider.issuer() + " cannot be fetched.", e);
      }
    }

    private static URL url(String text) throws URISyntaxException, MalformedURLException {
      URI uri = new URI(String.valueOf(text));
      if (!"https".equals(uri.getScheme())) {
        throw new MalformedURLException("Not an https URL: " + text);
      }
      return uri.toURL();
    }

    @Override
    public void close() {}
  }
}
