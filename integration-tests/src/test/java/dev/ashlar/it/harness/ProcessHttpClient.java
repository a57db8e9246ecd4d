package dev.ashlar.it.harness;

import java.util.ArrayList;
import java.util.List;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.utils.AttributeMap;

/**
 * The SDK's HTTP client with new connections for each process of a server. Those to the process
 * before are closed by its end, and one that is in use again within two seconds is not tried first:
 * without retries the request would fail.
 */
final class ProcessHttpClient implements SdkHttpClient {
  private final ServerProcess server;
  private final Apache5HttpClient.Builder builder;
  private final AttributeMap defaults;
  private final List<SdkHttpClient> clients = new ArrayList<>();
  private int start;

  private ProcessHttpClient(
      ServerProcess server, Apache5HttpClient.Builder builder, AttributeMap defaults) {
    this.server = server;
    this.builder = builder;
    this.defaults = defaults;
  }

  /** Makes one with what the service's client wants of it. */
  record Builder(ServerProcess server, Apache5HttpClient.Builder builder)
      implements SdkHttpClient.Builder<Builder> {
    @Override
    public SdkHttpClient buildWithDefaults(AttributeMap defaults) {
      return new ProcessHttpClient(server, builder, defaults);
    }
  }

  @Override
  public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
    return current().prepareRequest(request);
  }

  /** Requests to the process before may be running yet, so its client is closed in the end. */
  private synchronized SdkHttpClient current() {
    int now = server.starts();
    if (clients.isEmpty() || start != now) {
      clients.add(builder.buildWithDefaults(defaults));
      start = now;
    }
    return clients.getLast();
  }

  @Override
  public synchronized void close() {
    clients.forEach(SdkHttpClient::close);
  }
}
