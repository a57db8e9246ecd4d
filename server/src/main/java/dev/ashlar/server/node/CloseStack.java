package dev.ashlar.server.node;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What was opened one upon the other, to be closed in the opposite order. */
final class CloseStack implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CloseStack.class);

  private final Deque<AutoCloseable> resources = new ArrayDeque<>();

  <T extends AutoCloseable> T add(T resource) {
    resources.push(resource);
    return resource;
  }

  /** Closes all, also when one of them does not close cleanly. */
  @Override
  public void close() {
    while (!resources.isEmpty()) {
      AutoCloseable resource = resources.pop();
      try {
        resource.close();
      } catch (Exception e) {
        LOG.error("{} did not close cleanly.", resource.getClass().getSimpleName(), e);
      }
    }
  }
}
