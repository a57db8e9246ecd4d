package dev.ashlar.gateway.federation;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Trusts servers whose certificates lead to an authority that Java trusts, or to a certificate of
 * their chain that has one of some SHA-1 thumbprints. Names and dates are checked in both cases.
 */
final class ThumbprintTrust extends X509ExtendedTrustManager {
  private final X509ExtendedTrustManager authorities;
  private final List<String> thumbprints;

  private ThumbprintTrust(X509ExtendedTrustManager authorities, List<String> thumbprints) {
    this.authorities = authorities;
    this.thumbprints = thumbprints;
  }

  static SSLSocketFactory sockets(List<String> thumbprints) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      TrustManager trust = new ThumbprintTrust(manager(null), thumbprints);
      context.init(null, new TrustManager[] {trust}, null);
      return context.getSocketFactory();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Java's own trust store cannot be used", e);
    }
  }

  /**
   * @param trusted null: what Java trusts
   */
  private static X509ExtendedTrustManager manager(@Nullable KeyStore trusted)
      throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(trusted);
    for (TrustManager manager : factory.getTrustManagers()) {
      if (manager instanceof X509ExtendedTrustManager extended) {
        return extended;
      }
    }
    throw new GeneralSecurityException("Java has no trust manager for X.509 certificates");
  }

  @FunctionalInterface
  private interface Check {
    void by(X509ExtendedTrustManager manager) throws CertificateException;
  }

  private void check(X509Certificate[] chain, Check check) throws CertificateException {
    try {
      check.by(authorities);
    } catch (CertificateException e) {
      X509ExtendedTrustManager listed = listed(chain);
      if (listed == null) {
        throw e;
      }
      check.by(listed);
    }
  }

  /** One that trusts the certificates of the chain with a listed thumbprint; null without any. */
  private @Nullable X509ExtendedTrustManager listed(X509Certificate[] chain)
      throws CertificateException {
    try {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      for (int i = 0; i < chain.length; i++) {
        MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
        String thumbprint = HexFormat.of().formatHex(sha1.digest(chain[i].getEncoded()));
        if (thumbprints.contains(thumbprint)) {
          trusted.setCertificateEntry("listed-" + i, chain[i]);
        }
      }
      return trusted.size() == 0 ? null : manager(trusted);
    } catch (GeneralSecurityException | IOException e) {
      throw new CertificateException("The certificates of the provider cannot be checked", e);
    }
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    check(chain, manager -> manager.checkServerTrusted(chain, authType, socket));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    check(chain, manager -> manager.checkServerTrusted(chain, authType, engine));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    check(chain, manager -> manager.checkServerTrusted(chain, authType));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    throw noClients();
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    throw noClients();
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    throw noClients();
  }

  private static CertificateException noClients() {
    return new CertificateException("No clients are expected");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return authorities.getAcceptedIssuers();
  }
}
