package dev.ashlar.gateway.federation;

import com.nimbusds.jose.util.DefaultResourceRetriever;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.List;

/** Fetches documents over HTTPS, with limits of time and size, and follows no redirects. */
final class HttpsRetriever extends DefaultResourceRetriever {
  private static final int CONNECT_TIMEOUT_MS = 5_000;
  private static final int READ_TIMEOUT_MS = 5_000;
  private static final int BYTES_MAX = 256 << 10;

  /**
   * @param thumbprints of certificates that are trusted besides Java's authorities
   */
  HttpsRetriever(List<String> thumbprints) {
    super(
        CONNECT_TIMEOUT_MS, READ_TIMEOUT_MS, BYTES_MAX, true, ThumbprintTrust.sockets(thumbprints));
  }

  @Override
  protected HttpURLConnection openHTTPConnection(URL url) throws IOException {
    HttpURLConnection connection = super.openHTTPConnection(url);
    connection.setInstanceFollowRedirects(false);
    return connection;
  }
}
