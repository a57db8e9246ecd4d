package dev.ashlar.gateway.operation;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Hands one connection on, what the client sends byte by byte. */
final class DribblingProxy implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

  DribblingProxy(InetSocketAddress to) throws IOException {
    Thread.ofVirtual().start(() -> serve(to));
  }

  InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  private void serve(InetSocketAddress to) {
    try (Socket client = listener.accept();
        Socket server = new Socket(to.getAddress(), to.getPort())) {
      server.setTcpNoDelay(true);
      Thread.ofVirtual().start(() -> copy(server, client));
      InputStream in = client.getInputStream();
      OutputStream out = server.getOutputStream();
      for (int each = in.read(); each >= 0; each = in.read()) {
        out.write(each);
      }
    } catch (IOException e) {
      // The test has ended.
    }
  }

  private static void copy(Socket from, Socket to) {
    try {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException e) {
      // One of them has closed.
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
