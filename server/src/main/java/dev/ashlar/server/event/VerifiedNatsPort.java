package dev.ashlar.server.event;

import io.nats.client.Connection;
import io.nats.client.impl.SocketDataPort;
import java.io.IOException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * A connection to NATS whose certificate has to be valid for the name of the server, which the
 * client does not check. It is public for the client, which makes it by its name.
 */
public final class VerifiedNatsPort extends SocketDataPort {
  @Override
  public void upgradeToSecure() throws IOException {
    Connection owner = connection;
    SSLSocket secure =
        (SSLSocket)
            owner
                .getOptions()
                .getSslContext()
                .getSocketFactory()
                .createSocket(socket, host, port, true);
    SSLParameters parameters = secure.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    secure.setSSLParameters(parameters);
    secure.startHandshake();
    socket = secure;
    in = secure.getInputStream();
    out = secure.getOutputStream();
    isSecure = true;
  }
}
