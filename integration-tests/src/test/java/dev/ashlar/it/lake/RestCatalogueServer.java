package dev.ashlar.it.lake;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.rest.CatalogHandlers;
import org.apache.iceberg.rest.RESTCatalogProperties.SnapshotMode;
import org.apache.iceberg.rest.RESTSerializers;
import org.apache.iceberg.rest.requests.CreateNamespaceRequest;
import org.apache.iceberg.rest.requests.CreateTableRequest;
import org.apache.iceberg.rest.requests.UpdateTableRequest;
import org.apache.iceberg.rest.responses.ConfigResponse;
import org.apache.iceberg.rest.responses.ErrorResponse;
import org.apache.iceberg.rest.responses.LoadTableResponse;

/**
 * An Iceberg REST catalogue: Iceberg's own handlers on Iceberg's own catalogue in a database in
 * memory. It keeps the tables' metadata in the store, and answers each table with a session for
 * that table alone.
 */
final class RestCatalogueServer implements AutoCloseable {
  private static final ObjectMapper JSON = mapper();

  private final SessionVendor vendor;
  private final JdbcCatalog tables = new JdbcCatalog();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpServer http;

  RestCatalogueServer(SessionVendor vendor, String bucket) throws IOException {
    this.vendor = vendor;
    Map<String, String> properties = new HashMap<>(vendor.forCatalogue());
    properties.put("uri", "jdbc:h2:mem:" + bucket + ";DB_CLOSE_DELAY=-1");
    properties.put("warehouse", "s3://" + bucket + "/warehouse");
    properties.put("io-impl", "org.apache.iceberg.aws.s3.S3FileIO");
    tables.initialize("tables", properties);
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(threads);
    http.createContext("/v1/", this::answer);
    http.start();
  }

  private static ObjectMapper mapper() {
    ObjectMapper mapper = new ObjectMapper();
    mapper.setVisibility(PropertyAccessor.FIELD, JsonAutoDetect.Visibility.ANY);
    mapper.configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);
    mapper.setPropertyNamingStrategy(PropertyNamingStrategies.KebabCaseStrategy.INSTANCE);
    RESTSerializers.registerAll(mapper);
    return mapper;
  }

  URI uri() {
    return URI.create("http://127.0.0.1:" + http.getAddress().getPort());
  }

  private void answer(HttpExchange exchange) throws IOException {
    int status = 200;
    Object response;
    try {
      response = handle(exchange);
    } catch (RuntimeException | IOException e) {
      status = e instanceof NoSuchTableException ? 404 : 500;
      response =
          ErrorResponse.builder()
              .responseCode(status)
              .withType(e.getClass().getSimpleName())
              .withMessage("" + e.getMessage())
              .build();
    }
    byte[] bytes = JSON.writeValueAsBytes(response);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  /** The requests that the test's client makes. */
  private Object handle(HttpExchange exchange) throws IOException {
    List<String> path = List.of(exchange.getRequestURI().getPath().substring(1).split("/"));
    String call = exchange.getRequestMethod() + " " + String.join("/", kinds(path));
    return switch (call) {
      case "GET v1/config" -> ConfigResponse.builder().build();
      case "POST v1/namespaces" ->
          CatalogHandlers.createNamespace(tables, body(exchange, CreateNamespaceRequest.class));
      case "POST v1/namespaces/_/tables" ->
          withSession(
              CatalogHandlers.createTable(
                  tables, Namespace.of(path.get(2)), body(exchange, CreateTableRequest.class)));
      case "GET v1/namespaces/_/tables/_" ->
          withSession(CatalogHandlers.loadTable(tables, table(path), SnapshotMode.ALL));
      case "POST v1/namespaces/_/tables/_" ->
          CatalogHandlers.updateTable(
              tables, table(path), body(exchange, UpdateTableRequest.class));
      default -> throw new IOException("not served: " + call);
    };
  }

  /** The path with {@code _} for names. */
  private static List<String> kinds(List<String> path) {
    return java.util.stream.IntStream.range(0, path.size())
        .mapToObj(i -> i == 2 || i == 4 ? "_" : path.get(i))
        .toList();
  }

  private static TableIdentifier table(List<String> path) {
    return TableIdentifier.of(path.get(2), path.get(4));
  }

  private static <T> T body(HttpExchange exchange, Class<T> type) throws IOException {
    return JSON.readValue(exchange.getRequestBody(), type);
  }

  private LoadTableResponse withSession(LoadTableResponse table) {
    return LoadTableResponse.builder()
        .withTableMetadata(table.tableMetadata())
        .addAllConfig(vendor.forTable(table.tableMetadata().location(), true))
        .build();
  }

  @Override
  public void close() {
    http.stop(0);
    threads.shutdownNow();
    tables.close();
  }
}
