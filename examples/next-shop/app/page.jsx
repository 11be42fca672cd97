export default function Page() {
  return (
    <form action="/buy/INV-7" method="post">
      <p>One kilo of coffee, R$ 35.00</p>
      <button type="submit">Pay with USDC</button>
    </form>
  )
}
