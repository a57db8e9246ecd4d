package dev.ashlar.it.harness;

import dev.ashlar.it.harness.RawConnection.Answer;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** A signed request that has been taken in, but for the second half of its body. */
public final class HalfSent implements AutoCloseable {
  private final RawConnection connection;
  private final byte[] body;

  /**
   * Sends the head, waits until the server asks for the body, and sends half of that.
   *
   * @param connection from now on this one's
   * @param headers beside those that every request has
   * @throws IOException also when the server does not ask for the body
   */
  public HalfSent(
      RawConnection connection,
      String method,
      String path,
      String query,
      Map<String, String> headers,
      byte[] body)
      throws IOException {
    this.connection = connection;
    this.body = body;
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put("Host", connection.host());
    all.put("Content-Length", "" + body.length);
    all.put("Expect", "100-continue");
    connection.writeHead(
        method,
        path + (query.isEmpty() ? "" : "?" + query),
        new SigV4(Instant.now()).sign(method, path, query, "UNSIGNED-PAYLOAD", all));
    int interim = connection.status();
    if (interim != 100) {
      throw new IOException("answered " + interim + " before its body was asked for");
    }
    connection.headers();
    connection.write(Arrays.copyOf(body, body.length / 2));
  }

  /** Sends the rest. */
  public Answer finish() throws IOException {
    connection.write(Arrays.copyOfRange(body, body.length / 2, body.length));
    return connection.answer();
  }

  @Override
  public void close() throws IOException {
    connection.close();
  }
}
