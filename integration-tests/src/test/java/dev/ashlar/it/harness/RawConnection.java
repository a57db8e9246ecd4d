package dev.ashlar.it.harness;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A socket to the S3 port on which a test writes and reads HTTP by hand. */
public final class RawConnection implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final Socket socket;
  private final InputStream in;
  private final String host;

  /** An answer, read to its end. */
  public record Answer(int status, Map<String, String> headers, byte[] body) {
    public String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    /** The S3 error code; empty if the body is none. */
    public String code() {
      String text = text();
      int from = text.indexOf("<Code>");
      return from < 0 ? "" : text.substring(from + 6, text.indexOf("</Code>"));
    }

    @Override
    public String toString() {
      return status + " " + headers + "\n" + text();
    }
  }

  public RawConnection(ServerProcess server) throws IOException {
    this(server, 0);
  }

  /**
   * @param timeout of the connection, and of each wait for bytes
   */
  public RawConnection(InetSocketAddress server, Duration timeout) throws IOException {
    this(server, timeout, 0);
  }

  /**
   * @param receiveBufferBytes small for a client that reads slowly, 0 for the system's default
   */
  public RawConnection(ServerProcess server, int receiveBufferBytes) throws IOException {
    this(loopback(server.port()), TIMEOUT, receiveBufferBytes);
  }

  /** A port of this machine. */
  public static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  private RawConnection(InetSocketAddress server, Duration timeout, int receiveBufferBytes)
      throws IOException {
    socket = new Socket();
    if (receiveBufferBytes > 0) {
      socket.setReceiveBufferSize(receiveBufferBytes);
    }
    try {
      socket.connect(server, (int) timeout.toMillis());
    } catch (IOException e) {
      socket.close();
      throw e;
    }
    socket.setSoTimeout((int) timeout.toMillis());
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream(), 1024);
    host = server.getAddress().getHostAddress() + ":" + server.getPort();
  }

  public String host() {
    return host;
  }

  public InputStream in() {
    return in;
  }

  public void write(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
  }

  public void write(String text) throws IOException {
    write(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Cuts the connection with a reset, as a client that vanishes. */
  public void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  public void shutdownOutput() throws IOException {
    socket.shutdownOutput();
  }

  /** Sends a whole signed request and reads the answer. */
  public Answer request(String method, String path, String query, byte[] body) throws IOException {
    send(method, path, query, body, Map.of());
    return answer(method.equals("HEAD"));
  }

  /** Sends a whole signed request; the headers given are signed too and win. */
  public void send(String method, String path, String query, byte[] body, Map<String, String> extra)
      throws IOException {
    send(new SigV4(Instant.now()), method, path, query, body, extra);
  }

  /** The same, signed so. */
  public void send(
      SigV4 signature,
      String method,
      String path,
      String query,
      byte[] body,
      Map<String, String> extra)
      throws IOException {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Host", host);
    headers.put("Content-Length", "" + body.length);
    headers.putAll(extra);
    writeHead(
        method,
        path + (query.isEmpty() ? "" : "?" + query),
        signature.sign(method, path, query, Content.sha256(body), headers));
    write(body);
  }

  public void writeHead(String method, String target, Map<String, String> headers)
      throws IOException {
    StringBuilder head = new StringBuilder(method + " " + target + " HTTP/1.1\r\n");
    headers.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    write(head.append("\r\n").toString());
  }

  public Answer answer() throws IOException {
    return answer(false);
  }

  /** Reads one answer; interim ones are skipped. */
  public Answer answer(boolean toHead) throws IOException {
    int status = status();
    Map<String, String> headers = headers();
    while (status == 100) {
      status = status();
      headers = headers();
    }
    boolean bodiless = toHead || status == 204 || status == 304;
    return new Answer(status, headers, bodiless ? new byte[0] : body(headers));
  }

  /** Status of the next answer or interim answer. */
  public int status() throws IOException {
    String line = line();
    if (!line.startsWith("HTTP/1.1 ")) {
      throw new IOException("no status line: " + line);
    }
    return Integer.parseInt(line.substring(9, 12));
  }

  public Map<String, String> headers() throws IOException {
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    return headers;
  }

  /** Whether the server has closed the connection; waits for it to do anything. */
  public boolean isClosedByServer() throws IOException {
    try {
      return in.read() < 0;
    } catch (java.net.SocketException reset) {
      return true;
    }
  }

  private byte[] body(Map<String, String> headers) throws IOException {
    if ("chunked".equals(headers.get("transfer-encoding"))) {
      return chunks();
    }
    String length = headers.get("content-length");
    return length == null ? in.readAllBytes() : exactly(Integer.parseInt(length));
  }

  private byte[] chunks() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    while (true) {
      int length = Integer.parseInt(line(), 16);
      all.writeBytes(exactly(length));
      line();
      if (length == 0) {
        return all.toByteArray();
      }
    }
  }

  private byte[] exactly(int length) throws IOException {
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException(bytes.length + " of " + length + " bytes");
    }
    return bytes;
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int next = in.read();
    while (next != '\n') {
      if (next < 0) {
        throw new EOFException("closed after '" + line.toString(StandardCharsets.UTF_8) + "'");
      }
      if (next != '\r') {
        line.write(next);
      }
      next = in.read();
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
