package dev.ashlar.server.event;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** As much of the protocol of NATS as a publisher with JetStream needs. */
final class FakeNatsServer implements AutoCloseable {
  final List<String> published = new CopyOnWriteArrayList<>();
  volatile String connect = "";
  volatile String answer = "{\"stream\":\"S\",\"seq\":1}";
  volatile boolean isRefusing;
  final AtomicInteger refused = new AtomicInteger();
  private final ServerSocket socket;
  private final @Nullable SSLContext tls;
  private final List<Socket> connections = new CopyOnWriteArrayList<>();

  FakeNatsServer() throws IOException {
    this(null);
  }

  /**
   * @param tls null: without
   */
  FakeNatsServer(@Nullable SSLContext tls) throws IOException {
    this.tls = tls;
    this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return socket.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        Socket connection = socket.accept();
        connections.add(connection);
        Thread.ofVirtual().start(() -> serve(connection));
      }
    } catch (IOException e) {
      // It is closed.
    }
  }

  private void serve(Socket connection) {
    String sid = "1";
    try (connection) {
      InputStream in = new BufferedInputStream(connection.getInputStream());
      OutputStream out = connection.getOutputStream();
      write(
          out,
          "INFO {\"server_id\":\"X\",\"version\":\"2.10.0\",\"proto\":1,\"headers\":true,"
              + "\"max_payload\":1048576,\"jetstream\":true,\"host\":\"127.0.0.1\",\"port\":"
              + port()
              + (tls == null ? "" : ",\"tls_required\":true")
              + "}\r\n");
      if (tls != null) {
        Socket secure = secured(tls, connection);
        in = new BufferedInputStream(secure.getInputStream());
        out = secure.getOutputStream();
      }
      for (String line = line(in); true; line = line(in)) {
        String[] words = line.split(" ", -1);
        switch (words[0]) {
          case "CONNECT" -> {
            connect = line;
            if (isRefusing) {
              write(out, "-ERR 'Authorization Violation'\r\n");
              refused.incrementAndGet();
              return;
            }
          }
          case "PING" -> write(out, "PONG\r\n");
          case "SUB" -> sid = words[words.length - 1];
          case "PUB" -> publish(in, out, words, sid, 0);
          case "HPUB" -> publish(in, out, words, sid, Integer.parseInt(words[words.length - 2]));
          default -> {
            // PONG, UNSUB
          }
        }
      }
    } catch (IOException e) {
      // The connection has ended.
    }
  }

  private static Socket secured(SSLContext tls, Socket connection) throws IOException {
    SSLSocket secure =
        (SSLSocket)
            tls.getSocketFactory().createSocket(connection, null, connection.getPort(), false);
    secure.setUseClientMode(false);
    secure.startHandshake();
    return secure;
  }

  private void publish(
      InputStream in, OutputStream out, String[] words, String sid, int headerBytes)
      throws IOException {
    byte[] bytes = in.readNBytes(Integer.parseInt(words[words.length - 1]));
    in.readNBytes(2);
    String text =
        new String(bytes, headerBytes, bytes.length - headerBytes, StandardCharsets.UTF_8);
    published.add(words[1] + " " + text);
    String reply = words[2];
    write(out, "MSG " + reply + " " + sid + " " + answer.length() + "\r\n" + answer + "\r\n");
  }

  private static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("end");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  void dropConnections() throws IOException {
    for (Socket each : connections) {
      each.close();
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
    dropConnections();
  }
}
