package dev.ashlar.gateway.operation.website;

import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.operation.shared.BucketDocumentKind;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.KnownDocuments;
import dev.ashlar.gateway.s3.RedirectLocation;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.gateway.website.Redirect;
import dev.ashlar.gateway.website.RoutingRule;
import dev.ashlar.gateway.website.SiteHosts;
import dev.ashlar.gateway.website.Website;
import dev.ashlar.gateway.website.WebsiteDocument;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Serves websites on hosts of their own, and leaves all other requests to S3. Each page is an
 * anonymous request of S3, which decides about it.
 */
public final class WebsiteService implements RequestHandler {
  private static final int MOVED = 301;
  private static final int FOUND = 302;
  private static final Pattern BUCKET = Pattern.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]");

  private final RequestHandler s3;
  private final RequestHandler others;
  private final KnownDocuments<Website> websites;
  private final SiteHosts hosts;

  /**
   * @param s3 reads objects
   * @param others serves other hosts
   */
  public WebsiteService(
      RequestHandler s3, RequestHandler others, MetadataClient metadata, SiteHosts hosts) {
    this.s3 = s3;
    this.others = others;
    this.websites =
        new KnownDocuments<>(metadata, BucketDocumentKind.WEBSITE, WebsiteDocument::read);
    this.hosts = hosts;
  }

  @Override
  public HttpAnswer handle(HttpExchange exchange) throws S3Exception, InterruptedException {
    String bucket = hosts.bucket(exchange.headers());
    if (bucket == null) {
      return others.handle(exchange);
    }
    try {
      return serve(exchange, bucket);
    } catch (S3Exception e) {
      return failed(exchange, e);
    } catch (MetadataUnavailableException e) {
      return failed(exchange, ErrorMapping.of(e));
    }
  }

  private static HttpAnswer failed(HttpExchange exchange, S3Exception e) {
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      audit.failed(e);
    }
    return HtmlErrors.render(e, exchange);
  }

  private HttpAnswer serve(HttpExchange exchange, String bucket)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    boolean isPreflight = exchange.method().equals("OPTIONS");
    if (!isPreflight && !exchange.method().equals("GET") && !exchange.method().equals("HEAD")) {
      throw new S3Exception(S3Error.METHOD_NOT_ALLOWED)
          .with("Method", exchange.method())
          .withHeader("Allow", "GET, HEAD, OPTIONS");
    }
    Website website = website(bucket);
    String key = Percent.decode(exchange.rawPath().substring(1), false);
    if (isPreflight) {
      return s3.handle(PageRequest.preflight(exchange, path(bucket, key)));
    }
    return switch (website) {
      case Website.Elsewhere elsewhere -> redirect(exchange, elsewhere.redirect(), key, "");
      case Website.Pages pages -> new Page(exchange, bucket, pages, key).serve();
    };
  }

  private Website website(String bucket) throws S3Exception, MetadataUnavailableException {
    KnownDocuments.Known<Website> known =
        BUCKET.matcher(bucket).matches() ? websites.of(bucket) : null;
    if (known == null) {
      throw new S3Exception(S3Error.NO_SUCH_BUCKET).with("BucketName", bucket);
    }
    Website website = known.content();
    if (website == null) {
      throw new S3Exception(S3Error.NO_SUCH_WEBSITE_CONFIGURATION).with("BucketName", bucket);
    }
    return website;
  }

  private static HttpAnswer redirect(
      HttpExchange exchange, Redirect redirect, String key, String prefix) {
    String protocol = exchange.client().encrypted() ? "https" : "http";
    String host = exchange.headers().get(HttpHeaderNames.HOST, "");
    return redirect(redirect.status(), redirect.location(key, prefix, protocol, host));
  }

  private static String path(String bucket, String key) {
    return "/" + bucket + "/" + Percent.encode(key);
  }

  /** With the headers by which pages of other origins may read the answer. */
  private static HttpAnswer readable(HttpAnswer answer, HttpHeaders of) {
    for (String name : of.names()) {
      if (name.startsWith("Access-Control-") || name.equals("Vary")) {
        answer.headers().set(name, of.getAll(name));
      }
    }
    return answer;
  }

  private static HttpAnswer redirect(int status, String location) {
    HttpHeaders headers = new DefaultHttpHeaders().set(HttpHeaderNames.LOCATION, location);
    return new HttpAnswer(status, headers, new HttpAnswer.Empty());
  }

  /** A request for a page of a website. */
  private final class Page {
    private final HttpExchange exchange;
    private final String bucket;
    private final Website.Pages pages;
    private final String key;

    Page(HttpExchange exchange, String bucket, Website.Pages pages, String key) {
      this.exchange = exchange;
      this.bucket = bucket;
      this.pages = pages;
      this.key = key;
    }

    HttpAnswer serve() throws S3Exception, InterruptedException {
      RoutingRule rule = pages.rule(key, 0);
      if (rule != null) {
        return redirect(exchange, rule.redirect(), key, rule.prefix());
      }
      boolean isFolder = key.isEmpty() || key.endsWith("/");
      try {
        HttpAnswer page =
            s3.handle(
                PageRequest.forPage(exchange, path(isFolder ? key + pages.indexSuffix() : key)));
        String location = page.headers().get(RedirectLocation.HEADER);
        return location == null ? page : readable(redirect(MOVED, location), page.headers());
      } catch (S3Exception e) {
        return instead(e, isFolder);
      }
    }

    private HttpAnswer instead(S3Exception e, boolean isFolder)
        throws S3Exception, InterruptedException {
      int status = e.error().status();
      boolean mayBeFolder = !isFolder && (status == 404 || status == 403);
      if (mayBeFolder && isThere(key + "/" + pages.indexSuffix())) {
        HttpAnswer folder = redirect(FOUND, Redirect.path(key) + "/");
        e.headers().forEach(folder.headers()::set);
        return folder;
      }
      RoutingRule rule = pages.rule(key, status);
      if (rule != null) {
        return redirect(exchange, rule.redirect(), key, rule.prefix());
      }
      HttpAnswer page = status < 500 ? errorPage() : null;
      if (page == null) {
        throw e;
      }
      page.headers().set("x-amz-error-code", e.error().code());
      page.headers().set("x-amz-error-message", e.error().message());
      return new HttpAnswer(status, page.headers(), page.body());
    }

    private boolean isThere(String other) throws InterruptedException {
      try {
        s3.handle(PageRequest.forOther(exchange, "HEAD", path(other)));
        return true;
      } catch (S3Exception e) {
        return false;
      }
    }

    /** Null: there is none that anybody may read. */
    private @Nullable HttpAnswer errorPage() throws InterruptedException {
      String errorKey = pages.errorKey();
      if (errorKey == null) {
        return null;
      }
      try {
        return s3.handle(PageRequest.forOther(exchange, exchange.method(), path(errorKey)));
      } catch (S3Exception e) {
        return null;
      }
    }

    private String path(String ofKey) {
      return WebsiteService.path(bucket, ofKey);
    }
  }
}
