package dev.ashlar.gateway.http;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SSLContext;

/** A client that sends exactly the bytes it is told to. */
public final class RawClient implements AutoCloseable {
  private static final int TIMEOUT_MS = 20_000;
  private final Socket socket;
  private final InputStream in;

  /** An answer as it came over the wire. */
  public record Answer(int status, Map<String, String> headers, byte[] body) {
    public String header(String name) {
      return headers.getOrDefault(name, "");
    }

    public String text() {
      return new String(body, StandardCharsets.UTF_8);
    }
  }

  public RawClient(InetSocketAddress address) throws IOException {
    this(address, 0);
  }

  public RawClient(InetSocketAddress address, int receiveBufferBytes) throws IOException {
    socket = new Socket();
    if (receiveBufferBytes > 0) {
      socket.setReceiveBufferSize(receiveBufferBytes);
    }
    socket.setSoTimeout(TIMEOUT_MS);
    socket.connect(address);
    in = new BufferedInputStream(socket.getInputStream());
  }

  /** Talks TLS. */
  public RawClient(InetSocketAddress address, SSLContext tls) throws IOException {
    this(tls.getSocketFactory().createSocket(address.getAddress(), address.getPort()));
  }

  public RawClient(Socket connected) throws IOException {
    socket = connected;
    socket.setSoTimeout(TIMEOUT_MS);
    in = new BufferedInputStream(socket.getInputStream());
  }

  public RawClient send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  public RawClient send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  public Answer answer() throws IOException {
    return answer(false);
  }

  /**
   * @param toHead no body follows whatever the headers say
   */
  public Answer answer(boolean toHead) throws IOException {
    Answer head = head();
    int length = toHead ? 0 : Integer.parseInt(head.headers().getOrDefault("content-length", "0"));
    byte[] body = in.readNBytes(length);
    if (body.length < length) {
      throw new EOFException("body of " + body.length + " bytes instead of " + length);
    }
    return new Answer(head.status(), head.headers(), body);
  }

  public Answer head() throws IOException {
    int status = Integer.parseInt(line().substring(9, 12));
    Map<String, String> headers = new LinkedHashMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).trim());
    }
    return new Answer(status, headers, new byte[0]);
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException(
            "connection ended in a head: " + line.toString(StandardCharsets.UTF_8));
      }
      line.write(b);
    }
    return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
  }

  public int read(byte[] into) throws IOException {
    return in.read(into);
  }

  /** Whether the server has closed, in order or by reset. */
  public boolean ended() throws IOException {
    try {
      return in.read() < 0;
    } catch (java.net.SocketException reset) {
      return true;
    }
  }

  /** Ends the connection with a reset instead of an orderly end. */
  public void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
